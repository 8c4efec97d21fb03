"""How good are forecasts? Against what the mechanism of the simulated RNICs could do, next to simpler ways to guess."""
