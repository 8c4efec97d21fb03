import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A fleet of the frontend's mock. */
export type Kind = "empty" | "broken";

/** The built pages without data, or with a server that answers nothing but errors; in a process of its own, whose clock stands still. */
export class MockedPages {
  private constructor(
    private readonly addresses: Record<Kind, string>,
    private readonly process: ChildProcess,
  ) {}

  static async start(...kinds: Kind[]): Promise<MockedPages> {
    const server = spawn(process.execPath, [join(__dirname, "mockedPages.mjs"), ...kinds], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: server.stdout });
    const [line] = (await Promise.race([
      once(lines, "line"),
      once(server, "exit").then(([code]) => {
        throw new Error(`the mocked pages ended with code ${code as number}`);
      }),
    ])) as [string];
    return new MockedPages(JSON.parse(line) as Record<Kind, string>, server);
  }

  address(kind: Kind): string {
    return this.addresses[kind];
  }

  async stop(): Promise<void> {
    const ended = once(this.process, "exit");
    if (this.process.exitCode === null && this.process.kill()) await ended;
  }
}
