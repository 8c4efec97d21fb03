import { download } from "@/lib/download";

/** Saves JSON as a file of the browser. */
export function downloadJson(name: string, content: unknown): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: "application/json" }));
  download(name, url);
  URL.revokeObjectURL(url);
}
