/** A value: a text or a number; a date or a `Date` where the plan has dates; a pair of numbers where it has a grid. */
export type Value = string | number | boolean | Date | readonly [number | string, number | string];

/** A value of each attribute, by name, where the plan has several; null is no answer, if the plan has a place for it. */
export type Person = Readonly<Record<string, Value | null>>;

/** Remembers reports, so that the same value gives the same report. It holds the person's true values. */
export interface Memo {
  /** The report that is kept for this code: the first one that was given for it, once it is safe. */
  keep(collection: string, code: number, report: Uint8Array): Promise<Uint8Array>;
  /** For how many different codes a report is kept. */
  count(collection: string): Promise<number>;
}

export interface Options {
  /** The largest ε that this page reports at; 8 unless it says otherwise. */
  maxEpsilon?: number;
  /** Where reports are remembered; without one, every report is fresh and spends ε again. */
  memo?: Memo | null;
  /** An identifier that the server authenticates, from which the group of a scheme follows; else it is drawn by lot. */
  person?: string | null;
}

export interface Client {
  /** The plan, as it was checked. */
  readonly plan: Record<string, unknown>;
  /** The number of a value in the domain, of each attribute where there are several; one outside is `other`, or refused. */
  code(value: Value | Person): number | number[];
  /** A report of the value, or of a record: random, and safe to send. */
  report(value: Value | Person): Promise<Uint8Array>;
  /**
   * Send a report of the value to the collector at this address, trying again under one key, so that it counts once.
   * True if it counts now, false if the collector had it already.
   */
  send(url: string | URL, value: Value | Person): Promise<boolean>;
  /** ε that this person has spent in this collection; undefined if there is no memo to tell. */
  spent(): Promise<number | undefined>;
}

/** A report that did not arrive: `retry` sends the same one again, which costs no more ε. */
export interface Undelivered extends Error {
  retry(): Promise<boolean>;
}

/** What must not be sent, or was not taken: nothing of it counts. */
export class Refused extends Error {}

/** The client of a plan; a plan that is not what it says, or that this client does not know, is refused. */
export function openPlan(plan: string | object, options?: Options): Promise<Client>;

/** A memo in memory, until the program ends: for Node and for tests. */
export function memoryMemo(): Memo;

/** A memo in the browser's IndexedDB, on this device only. */
export function browserMemo(name?: string): Memo;
