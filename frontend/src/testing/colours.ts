/** How far apart two colours look, also to those who see no red, no green or no blue. */
type Triple = readonly [number, number, number];

/** Machado, Oliveira and Fernandes (2009), the whole of each deficiency; on linear RGB. */
const SEEN: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  everyone: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

export const VISIONS = Object.keys(SEEN);

function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const dot = (a: Triple, b: Triple) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** A colour in CIELAB (D65) as it is seen; `#rrggbb`. */
export function toLab(hex: string, vision: string): Triple {
  const rgb = linear(hex);
  const matrix = SEEN[vision];
  if (!matrix) throw new Error(`unknown vision: ${vision}`);
  const seen = matrix.map((row) => Math.min(1, Math.max(0, dot(row, rgb)))) as unknown as Triple;
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f(dot([0.4124564, 0.3575761, 0.1804375], seen) / 0.95047);
  const y = f(dot([0.2126729, 0.7151522, 0.072175], seen));
  const z = f(dot([0.0193339, 0.119192, 0.9503041], seen) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const RAD = Math.PI / 180;

function hue(b: number, a: number): number {
  if (a === 0 && b === 0) return 0;
  const angle = Math.atan2(b, a) / RAD;
  return angle < 0 ? angle + 360 : angle;
}

/** CIEDE2000 of two colours in CIELAB (Sharma, Wu and Dalal, 2005). */
export function ciede2000([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const rise = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const g = 1.5 - 0.5 * rise((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2);
  const [c1, c2] = [Math.hypot(g * a1, b1), Math.hypot(g * a2, b2)];
  const [h1, h2] = [hue(b1, g * a1), hue(b2, g * a2)];
  const grey = c1 * c2 === 0;
  const turn = grey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * RAD);
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const middle = grey ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const t =
    1 -
    0.17 * Math.cos((middle - 30) * RAD) +
    0.24 * Math.cos(2 * middle * RAD) +
    0.32 * Math.cos((3 * middle + 6) * RAD) -
    0.2 * Math.cos((4 * middle - 63) * RAD);
  const lightness = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const chroma = (c2 - c1) / (1 + 0.045 * c);
  const tone = dH / (1 + 0.015 * c * t);
  const rotation = -Math.sin(60 * Math.exp(-(((middle - 275) / 25) ** 2)) * RAD) * 2 * rise(c);
  return Math.sqrt(lightness ** 2 + chroma ** 2 + tone ** 2 + rotation * chroma * tone);
}
