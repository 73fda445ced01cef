"""Words of command lines: those that make sense come first."""

GARBLED = [
    "", " ", ".", "-", "--", "-1", "0", "x", "é", "\u202eabc", "\x1b[31mred\x1b[0m", "\udcff",
    "=1+1", "a" * 300, "a" * 5000, "()", ")(", "((((", "[", "{}", "\\", "%s", "%", "$(x)", "`x`",
    "nan", "inf", "-inf", "1e308", "1e-320", "1e999", "-0.0", "0x10", "1_000", "١٢", "10**12",
    "1,2", ",", ",,", "+", "true", "None", "null", "\n", "a\nb", "\t", "~nosuchuser",
    "~nosuchuser/x", "*", "?", "a=b", "'", '"', "😀", "\u2028", "\ufeff", "--help", "--version",
    "-h", "@file", ":", "://", "a:b", "1:2", "0:0,0:0",
]  # fmt: skip
NUMBERS = [
    "1", "2", "0.5", "3", "7", "8.5", "0", "-1", "40", "41", "1e308", "1e-308", "nan", "inf",
    "1e3", "1000000000000", str(10**30), str(2**63), str(-(2**63)), str(2**64),
    "0.9999999999999999", "0.95", "1e-17", "99999999999999999999999999", "1.0000001", "00", "+1",
    "1.", ".5", "2e0",
]  # fmt: skip
POPULATIONS = ["100", "7", "1", "0", "-1", "x", str(10**30), str(2**62), str(2**63), "1e3"]
REPORTS = ["raw", "jsonl", "parquet", "arrow", "x"]
EXECUTORS = [
    "threads", "thread", "tcp://", "tcp://127.0.0.1:1", "tcp://x:y", "tls://127.0.0.1:1", "dusk",
    "inproc://x", "tcp://[::1", "tcp://127.0.0.1:99999",
]  # fmt: skip
READING: dict[str, list[str]] = {
    "--column": ["1", "2", "page", "age", "1,2", "page,age", "9", "-1", "1,1"],
    "--header": [], "--no-header": [], "--counts": [], "--ordered": [],
    "--delimiter": [",", ";", "tab", "|", ":", "ab", '"', "é"],
    "--na": ["a", "-", "NA,b", ",", ""],
    "--other": ["other", "a", " "],
    "--domain": ["domain.txt", "values.txt", "empty.txt", "loop", "folder", "latin.csv", "no.txt"],
    "--domain-size": ["4", "50", *NUMBERS],
    "--top": ["2", "3", *NUMBERS],
    "--pick": ["most_frequent", "first", "last", "random", "worst"],
    "--bins": [
        "4", "log:3", "quantiles:3", "log:0", "quantiles:x", "0,10,50", "1,1", "3,2", "nan,1",
        "2013-01-01,2013-02-01,2013-03-01", *NUMBERS,
    ],
    "--grid": ["2x2", "3x1", "0x5", "1x1x1", "9" * 20 + "x2"],
    "--within": ["0:10", "0:10,0:10", "10:0", "nan:1", "-1e308:1e308", "0:0"],
    "--missing": ["drop", "refuse", "keep"],
    "--input-format": [
        "lines", "csv", "parquet", "transactions", "json", "jsonl", "arrow", "excel", "tsv",
    ],
}  # fmt: skip
SPECS = [
    "grr", "oue", "olh", "ss", "blh", "rappor", "olh(g=4)", "olh(g=1)", "olh(g=-1)",
    "olh(g=4,g=8)", "olh(**{'g':4})", "olh(*[1])", "olh(4)", "olh(g=" + "-" * 2000 + "1)",
    "olh(g=" + "-" * 100_000 + "1)", "olh(g=" + "(" * 150 + "4" + ")" * 150 + ")",
    "olh(g=[[[[1]]]])", "olh(g='x')", "olh(g=1e400)", "olh(g=10**9)", "olh(g=True)", "olh(g=None)",
    "olh(h=3)", "ss(k=0)", "ss(k=10**9)", "ss(k=1000000000)", "olh(g=99999999999999999999)",
    "OLH( g = 4 )", "no-such", "grr()", "grr(", "grr)", "paper", "all", "usual", "grr,oue",
    "grr,,oue", "grr+oue", "olh(epsilon=3)", "olh(d=3)", "olh(g=4;g=5)", "olh(g=f'{1}')",
    "olh(g=__import__('os'))", "olh(g=b'x')", "olh(g=1j)", "olh(g={1:2})", "olh(g=...)",
    "olh(g=4)#", "olh#(g=4)",
]  # fmt: skip
METHODS = [
    "none", "norm", "norm_sub", "norm_cut", "power", "power_ns", "base_pos", "base_cut", "em",
    "mle", "mle_apx", "npmle", "power+norm_sub", "power++norm", "+", "power+", "Norm-Sub",
    "power(variance=-1)", "power(variance=1e308)", "power(variance=1e-300)", "power(prior='x')",
    "power(prior=" + "'" * 999 + ")", "base_cut(x=1)", "em(iterations=0)", "paper", "all", "usual",
    "norm" + "+norm" * 400,
]  # fmt: skip
METRICS = [
    "l1", "l2", "kl", "js", "emd", "ndcg", "ndcg(k=0)", "ndcg(k=3)", "ndcg(k=-1)", "top_k", "mse",
    "paper", "all", "chi2", "l1(p=2)", "precision(k=10**9)", "kl(base=0)", "hellinger",
]  # fmt: skip
DATASETS = [
    "zipf(s=1.3,d=16,n=1000)", "uniform(d=4,n=8)", "geometric(p=0.1,d=16,n=500)",
    "normal(d=8,n=100)", "steps(d=8,n=100)", "flights", "zipf", "zipf(s=0,d=2,n=1)", "zipf(s=-1)",
    "zipf(s=1e308,d=9,n=9)", "zipf(s=-1e308,d=9,n=9)", "zipf(d=1)", "zipf(d=0)", "zipf(d=10**9)",
    "zipf(d=1000000000000)", "zipf(n=0)", "zipf(n=-5)", "zipf(n=" + "9" * 40 + ")", "zipf(n=1e9)",
    "zipf(s=nan)", "zipf(s='x')", "geometric(p=1,d=4,n=9)", "geometric(p=0)", "steps(steps=0)",
    "flights()", "flights(x=1)", "no_such_data", "zipf(" * 50, "zipf()", "embedded",
    "dirichlet(d=8,n=50)", "uniform(d=2,n=9223372036854775807)",
]  # fmt: skip
FILES = [
    "values.txt", "values.csv", "carts.dat", "-dash.csv", "=formula.csv", "bi\u202edi.csv",
    "table.csv", "values.parquet", "counts.csv", "empty.txt", "blank.txt", "binary.bin",
    "latin.csv", "quotes.csv", "huge_number.csv", "loop", "dangling", "folder", "folder/",
    "values.txt/x.json", "no/such/file.csv", "plan.json", "plan50.json", "broken.json",
    "counts.json", "reports.bin", "reports.jsonl", "reports.parquet", "damaged.parquet",
    "results.csv", "results", "wrong.py", "syntax.py", "nothing.py", "bad\udcffname.csv",
    "ids.jsonl", "deep.json", "numbers.csv", "n" * 254 + ".csv", "n" * 300 + ".csv",
    "space name.csv", "domain.txt", "plug.py", "dates.csv", "bars.txt", "ragged.csv", "wide.csv",
    "values.json", "values.csv.gz", "values.zip", "half.csv.xz", "book.xlsx", "*.csv", "val*",
    "values.csv+table.csv", "values.csv+values.csv", "http://localhost/x.csv",
]  # fmt: skip
OUTPUTS = [
    "out.csv", "out.json", "out.parquet", "out.txt", "out", "out.html", "out.bin", "out.jsonl",
    "out.arrow", "out.ldp3.json", "folder", "folder/out.csv", "no/such/out.csv",
    "values.txt/x.json", "loop", "loop/x.csv", "dangling", "n" * 250 + ".csv", "n" * 300,
    "bad\udcffname.json", "out.xyz", ".", "..hidden", "-o", "results", "results.csv",
    "bi\u202edi.csv", "OUT.CSV", "out.csv/", " ", "a\nb.csv", "e\u0301.json",
]  # fmt: skip
