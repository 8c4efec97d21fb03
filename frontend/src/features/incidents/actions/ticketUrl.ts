import type { ExternalRef } from "@/lib/api/types";

/** How the addresses of known ticket systems name a ticket: host, path, and its key made of what the path holds. */
const SYSTEMS: readonly { system: string; host: RegExp; path: RegExp; key: (...found: string[]) => string }[] = [
  { system: "github", host: /(^|\.)github\./, path: /^\/([^/]+\/[^/]+)\/(?:issues|pull)\/(\d+)/, key: keyOfProject },
  { system: "gitlab", host: /./, path: /^\/(.+?)\/-\/(?:issues|work_items)\/(\d+)/, key: keyOfProject },
  { system: "gitea", host: /(^|\.)(gitea|codeberg)\./, path: /^\/([^/]+\/[^/]+)\/issues\/(\d+)/, key: keyOfProject },
  { system: "linear", host: /(^|\.)linear\.app$/, path: /\/issue\/([A-Z][A-Z0-9]*-\d+)/i, key: (id) => id },
  { system: "youtrack", host: /youtrack/, path: /\/issue\/([A-Z][A-Z0-9]*-\d+)/i, key: (id) => id },
  { system: "jira", host: /./, path: /\/browse\/([A-Z][A-Z0-9_]*-\d+)/i, key: (id) => id.toUpperCase() },
  { system: "pagerduty", host: /(^|\.)pagerduty\.com$/, path: /\/incidents\/([A-Z0-9]+)/i, key: (id) => id },
];
const SERVICE_NOW = /(^|\.)service-now\.com$/;
const SERVICE_NOW_NUMBER = /\b(?:INC|TASK|CHG|PRB)\d+\b/i;
const LONGEST = 200;

function keyOfProject(project: string, number: string): string {
  return `${project}#${number}`;
}

function parsed(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}

/** `tickets.example.org` of an address whose system is unknown, and the last part of its path. */
function generic(url: URL): Pick<ExternalRef, "system" | "key"> {
  const last = url.pathname.split("/").filter(Boolean).at(-1);
  const key = last === undefined ? url.search.slice(1) || url.hostname : decodeURIComponent(last);
  return { system: url.hostname.replace(/^www\./, ""), key };
}

function named(url: URL): Pick<ExternalRef, "system" | "key"> {
  for (const { system, host, path, key } of SYSTEMS) {
    const found = host.test(url.hostname) ? path.exec(url.pathname) : null;
    if (found) return { system, key: key(...found.slice(1)) };
  }
  const number = SERVICE_NOW.test(url.hostname) ? SERVICE_NOW_NUMBER.exec(decodeURIComponent(url.href)) : null;
  return number ? { system: "servicenow", key: number[0].toUpperCase() } : generic(url);
}

/** The ticket behind a pasted address; null when it is none. */
export function ticketOf(text: string): ExternalRef | null {
  const url = parsed(text.trim());
  if (!url) return null;
  const { system, key } = named(url);
  return { system: system.slice(0, LONGEST), key: key.slice(0, LONGEST), url: url.href };
}
