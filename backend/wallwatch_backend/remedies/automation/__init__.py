"""Automation rules: they apply a remedy where a finding matches; off until an administrator enables them."""
