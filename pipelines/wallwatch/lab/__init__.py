"""The lab's processes and files: devices under test, journals, campaigns."""
