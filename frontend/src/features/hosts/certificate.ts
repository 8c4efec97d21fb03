import type { Agent } from "@/lib/api/types";
import { formatDuration } from "@/lib/time/format";
import type { Tone } from "@/lib/ui/StatusMark";

type Certificate = Agent["certificate"];

/** What an operator has to know of an agent's certificate at a time. */
export interface CertificateState {
  /** Null: nothing that needs a mark. */
  tone: Tone | null;
  text: string;
  /** What to do, where something is to be done. */
  todo: string | null;
}

export function certificateState(certificate: Certificate, connected: boolean, now: number): CertificateState {
  if (certificate === null) return { tone: "quiet", text: "no certificate (uses a legacy secret)", todo: null };
  const left = new Date(certificate.expires_at).getTime() - now;
  if (left <= 0) return { tone: "bad", text: `expired ${formatDuration(-left)} ago`, todo: "Enrol this agent again." };
  const text = `expires in ${formatDuration(left)}`;
  if (now < new Date(certificate.late_at).getTime()) return { tone: null, text, todo: null };
  return {
    tone: "warn",
    text,
    todo: connected ? "Renewal failed: see the agent's log." : "Certificates renew only while the agent is connected.",
  };
}
