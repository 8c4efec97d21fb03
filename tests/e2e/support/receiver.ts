import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A webhook receiver on this machine. Its answers can be made to fail. */
export class Receiver {
  readonly received: Received[] = [];
  status = 204;
  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on("request", (request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        receiver.received.push({ headers: request.headers, body: Buffer.concat(parts).toString("utf8") });
        response.writeHead(receiver.status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** What was received of one type of event, in the native format. */
  of(type: string): Received[] {
    return this.received.filter((one) => (JSON.parse(one.body) as { type?: string }).type === type);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }
}
