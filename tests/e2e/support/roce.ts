/** A capture of one connection that loses PSN 102 and resends only it, which go-back-N forbids. */
export function selectiveResend(): Buffer {
  const sent: [psn: number, opcode: number, syndrome?: number][] = [
    ...[100, 101, 103, 104, 105].map((psn): [number, number] => [psn, 0x07]),
    [102, 0x11, 0x60],
    [102, 0x07],
    [106, 0x07],
    [107, 0x07],
  ];
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b23c4d, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(65_535, 16);
  head.writeUInt32LE(1, 20);
  return Buffer.concat([head, ...sent.map(([psn, opcode, syndrome], place) => record(place, psn, opcode, syndrome))]);
}

/** One packet, cut behind its headers: the ICRC stays unknown. */
function record(place: number, psn: number, opcode: number, syndrome: number | undefined): Buffer {
  const answers = syndrome !== undefined;
  const frame = Buffer.alloc(58);
  frame.writeUInt16BE(0x0800, 12);
  frame.set([0x45, 2], 14);
  frame.writeUInt16BE(1080, 16);
  frame.set([64, 17], 22);
  frame.set(answers ? [10, 0, 0, 2, 10, 0, 0, 1] : [10, 0, 0, 1, 10, 0, 0, 2], 26);
  frame.writeUInt16BE(50_000, 34);
  frame.writeUInt16BE(4791, 36);
  frame.writeUInt16BE(1060, 38);
  frame.set([opcode, 0x40, 0xff, 0xff, 0, 0, 0, answers ? 0x22 : 0x11], 42);
  frame.writeUInt32BE(psn, 50);
  if (syndrome !== undefined) frame.writeUInt8(syndrome, 54);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(1_700_000_000, 0);
  header.writeUInt32LE(place * 2_000, 4);
  header.writeUInt32LE(frame.length, 8);
  header.writeUInt32LE(1094, 12);
  return Buffer.concat([header, frame]);
}
