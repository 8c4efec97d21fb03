import { describe, expect, it } from "vitest";
import {
  delayText,
  envelopeText,
  keptText,
  lossText,
  promiseName,
  promiseText,
  rateParts,
  rateText,
  secondsText,
  vfName,
} from "./text";

describe("numbers of promises", () => {
  it.each([
    [rateText(940), "940 Mbit/s"],
    [rateText(3234), "3.23 Gbit/s"],
    [rateText(0), "0 Mbit/s"],
    [rateText(null), "–"],
    [rateParts(2234, 10_000).join(""), "2.23 of 10 Gbit/s"],
    [rateParts(420, 5000).join(""), "420 Mbit/s of 5 Gbit/s"],
    [rateParts(null, 5000).join(""), "– of 5 Gbit/s"],
    [envelopeText(1000, 10_000), "1 to 10 Gbit/s"],
    [envelopeText(500, 25_000), "500 Mbit/s to 25 Gbit/s"],
    [envelopeText(0, 900), "up to 900 Mbit/s"],
    [delayText(48.2), "48.2 µs"],
    [delayText(1270), "1.27 ms"],
    [delayText(null), "–"],
    [lossText(0.0001), "0.01%"],
    [lossText(0), "0%"],
    [secondsText(0.5), "0.5 s"],
    [secondsText(0), "0 s"],
    [secondsText(200), "3 min 20 s"],
    [secondsText(203_040), "2.35 days"],
    [secondsText(null), "–"],
  ])("%s is %s", (text, expected) => expect(text).toBe(expected));

  it("never round a broken second up to a promise that was always kept", () => {
    expect(keptText(1)).toBe("100%");
    expect(keptText(1 - 1 / 2_592_000)).toBe("99.999%");
    expect(keptText(0.9734)).toBe("97.3%");
    expect(keptText(null)).toBe("–");
  });

  it("say what is promised, and leave out what is not", () => {
    const envelope = { min_mbps: 1000, max_mbps: 10_000 };
    expect(promiseText({ ...envelope, p50_us: 10, p99_us: 50, loss: 0.0001 })).toBe(
      "1 to 10 Gbit/s · p50 ≤ 10 µs · p99 ≤ 50 µs · loss ≤ 0.01%",
    );
    expect(promiseText({ ...envelope, p50_us: null, p99_us: null, loss: null })).toBe("1 to 10 Gbit/s");
    expect(promiseName({ name: null })).toBe("from the CNI configuration");
  });

  it("name a VF by its pod, else by its number", () => {
    expect([vfName({ vf: 3, pod: "a/b" }), vfName({ vf: 3, pod: null })]).toEqual(["a/b", "VF 3"]);
  });
});
