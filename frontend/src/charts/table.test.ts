import { describe, expect, it } from "vitest";
import { fileName, toCsv } from "./table";

describe("a chart as a file", () => {
  it("leaves a missing value empty and quotes what would break a row", () => {
    expect(
      toCsv({
        columns: ["Time", 'Sent, "all"'],
        rows: [
          ["2026-11-21T03:00:00Z", 1.5],
          ["two\nlines", null],
          ["-3", -3],
        ],
      }),
    ).toBe(`Time,"Sent, ""all"""\r\n2026-11-21T03:00:00Z,1.5\r\n"two\nlines",\r\n'-3,-3\r\n`);
  });

  it("never lets a name run as a formula", () => {
    expect(toCsv({ columns: ["=1+1"], rows: [["@SUM(A1)"]] })).toBe("'=1+1\r\n'@SUM(A1)\r\n");
  });

  it("has a name that any system takes", () => {
    expect(fileName("Mask lookups per packet (Q)")).toBe("mask-lookups-per-packet-q");
    expect(fileName("…")).toBe("chart");
  });
});
