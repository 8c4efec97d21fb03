"""Wallwatch's API as its users reach it: by address and token, from any machine. Nothing here needs the database or Kafka."""
