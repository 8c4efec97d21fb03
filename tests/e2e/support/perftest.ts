/** perftest output files as the tools print them, from a surface of the form of the paper's equation (1) and (2). */

export interface Surface {
  u: number;
  v: number;
  m: number;
  n: number;
  w: number;
  a: number;
  b: number;
  c: number;
}

export interface Output {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

const LINE = "-".repeat(87);
const MIB_A_GBIT = 1e9 / 8 / 2 ** 20;
const SETTINGS =
  " Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 4\t\tTransport type : IB\n Mtu             : 1024[B]";

function file(name: string, text: string): Output {
  return { name: `${name}.log`, mimeType: "text/plain", buffer: Buffer.from(text) };
}

function bandwidth(surface: Surface, left: number, right: number): number {
  return surface.u * Math.exp(-((left - surface.m) ** 2 + (right - surface.n) ** 2) / (2 * surface.v ** 2)) + surface.w;
}

/** Files of `ib_send_bw` and `ib_send_lat` under each pair of mask counts; `factors` scale the measured values in turn. */
export function outputs(
  surface: Surface,
  masks: readonly (readonly [number, number])[],
  factors: readonly number[] = [1],
): Output[] {
  return masks.flatMap(([left, right], i) => {
    const factor = factors[i % factors.length] ?? 1;
    const name = `cen_${left}_cde_0_sen_0_sde_${right}_send`;
    const average = bandwidth(surface, left, right) * factor * MIB_A_GBIT;
    const rate = (average * 2 ** 20) / 65536 / 1e6;
    const us = ((surface.a * left + surface.b * right + surface.c) * factor).toFixed(2);
    return [
      file(
        `${name}_bw`,
        [
          LINE,
          "                    Send BW Test",
          SETTINGS,
          LINE,
          " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
          ` 65536      5000             ${average.toFixed(2)}           ${average.toFixed(2)}\t\t   ${rate.toFixed(6)}`,
          `${LINE}\n`,
        ].join("\n"),
      ),
      file(
        `${name}_lat`,
        [
          LINE,
          "                    Send Latency Test",
          SETTINGS,
          LINE,
          " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]",
          ` 2       1000          ${us}           ${us}         ${us}               ${us}`,
          `${LINE}\n`,
        ].join("\n"),
      ),
    ];
  });
}
