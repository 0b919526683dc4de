"""From which wait on does one of two win?"""
