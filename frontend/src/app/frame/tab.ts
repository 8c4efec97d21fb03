import { useEffect } from "react";
import { usePageTitle } from "@/lib/ui/useTitle";

const PLAIN = "/favicon.svg";
const MOST = 99;

const bounded = (count: number) => (count > MOST ? `${MOST}+` : String(count));

/** `(3) Fleet · Wallwatch`: a tab among twelve says whether it needs a look. */
export function tabTitle(page: string, count: number): string {
  const name = page === "" ? "Wallwatch" : `${page} · Wallwatch`;
  return count > 0 ? `(${bounded(count)}) ${name}` : name;
}

/** The icon of the tab; with incidents that need attention it is their number on red. */
export function tabIcon(count: number): string {
  if (count <= 0) return PLAIN;
  const text = bounded(count);
  const size = [0, 22, 18, 14][text.length] ?? 14;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#c3222f"/>` +
    `<text x="16" y="${16 + size * 0.36}" font-family="sans-serif" font-weight="700" font-size="${size}" ` +
    `fill="#fff" text-anchor="middle">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Keeps the browser's tab up to date while the shell is shown. */
export function useTab(count: number): void {
  const page = usePageTitle();
  useEffect(() => {
    document.title = tabTitle(page, count);
  }, [page, count]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!link) return;
    link.href = tabIcon(count);
    return () => {
      link.href = PLAIN;
    };
  }, [count]);
}
