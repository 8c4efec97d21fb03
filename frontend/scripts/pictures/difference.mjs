/**
 * Compares two pictures pixel by pixel. Runs in the page, which can decode them, so it uses nothing from around it.
 *
 * Returns how many pixels differ, by more than `tolerance` (0 to 255) in any channel, and a picture (RGBA) of the second one, faint,
 * with those in red.
 */
export function difference(before, after, width, height, tolerance) {
  const shown = new Uint8ClampedArray(width * height * 4);
  let changed = 0;
  for (let i = 0; i < shown.length; i += 4) {
    const off = Math.max(
      Math.abs(before[i] - after[i]),
      Math.abs(before[i + 1] - after[i + 1]),
      Math.abs(before[i + 2] - after[i + 2]),
    );
    const differs = off > tolerance;
    if (differs) changed += 1;
    const grey = 255 - (255 - (after[i] + after[i + 1] + after[i + 2]) / 3) * 0.25;
    shown[i] = differs ? 224 : grey;
    shown[i + 1] = differs ? 0 : grey;
    shown[i + 2] = differs ? 0 : grey;
    shown[i + 3] = 255;
  }
  return { changed, shown };
}
