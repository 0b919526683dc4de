"""Tandem: measures synchronous and asynchronous web backends that do the same work.

Data moves one way: catalog, schedule, visit, judge, store, analyse, report.
"""
