import { type ChildProcess, spawn } from "node:child_process";
import { expect } from "@playwright/test";

/** `oidc-provider-mock` accepts any client; `oidc-provider` knows one, requires PKCE, and asks for consent. */
type Kind = "lenient" | "strict";

interface Providers {
  address: string;
  commands: Record<Kind, string[]>;
}

/** The OpenID Connect provider at which the second backend lets people sign in; tests/e2e/run reserves its port. */
export class Provider {
  private constructor(
    readonly address: string,
    private readonly process: ChildProcess,
  ) {}

  /** Starts it and waits until it answers. */
  static async start(kind: Kind): Promise<Provider> {
    const { address, commands } = providers();
    const [program = "", ...parameters] = commands[kind];
    const process = spawn(program, parameters, { stdio: "ignore" });
    const provider = new Provider(address, process);
    await expect
      .poll(() => provider.answers(), { message: "the provider does not answer", timeout: 60_000 })
      .toBe(true);
    return provider;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    if (this.process.exitCode === null && this.process.kill()) await ended;
  }

  private async answers(): Promise<boolean> {
    if (this.process.exitCode !== null) throw new Error(`the provider ended with code ${this.process.exitCode}`);
    return fetch(`${this.address}/.well-known/openid-configuration`).then(
      (answer) => answer.ok,
      () => false,
    );
  }
}

function providers(): Providers {
  const text = process.env["E2E_SSO_PROVIDERS"];
  if (!text) throw new Error("E2E_SSO_PROVIDERS is not set. tests/e2e/run sets it.");
  return JSON.parse(text) as Providers;
}
