"""`make weaknesses`: does a test notice when the fix of a weakness from the security review is taken out again?"""
