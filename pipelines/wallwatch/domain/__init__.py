"""Knowledge about RNICs, walls, symptoms and causes. No I/O, no imports from other parts."""
