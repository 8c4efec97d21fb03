"""Automatic mode: rules that apply a remedy where a matching finding is, off until somebody switches them on."""
