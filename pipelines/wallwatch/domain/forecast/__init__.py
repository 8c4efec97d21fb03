"""What an RNIC will carry, how fast it will be and when it meets its walls, minutes to an hour ahead."""
