"""Oracles, methods and metrics with one bug each, and the honest ones they were made from.

Every class but the honest ones breaks its promise in a way that some published code does, or that
a hurried author might. The contract must catch each.
"""
