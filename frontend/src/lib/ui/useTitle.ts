import { useEffect, useSyncExternalStore } from "react";

let current = "";
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Names the page: in the browser's tab and history, and at the end of its trail. */
export function useTitle(title: string): void {
  useEffect(() => {
    current = title;
    document.title = `${title} · Wallwatch`;
    for (const listener of listeners) listener();
  }, [title]);
}

/** What the page that is shown calls itself. */
export function usePageTitle(): string {
  return useSyncExternalStore(subscribe, () => current);
}
