"""Inspection: do reports look as if honest clients had sent them?"""
