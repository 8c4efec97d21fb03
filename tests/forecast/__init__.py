"""How good are forecasts? Fleets whose loads grow, wane and repeat, recorded from the simulator, with what its mechanism could do."""
