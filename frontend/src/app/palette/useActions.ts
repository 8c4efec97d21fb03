import { useMantineColorScheme } from "@mantine/core";
import { useMemo } from "react";
import { useZone } from "@/lib/time/ZoneContext";
import { useSignOut } from "@/shared/session";
import type { Action } from "./entries";

/** What the palette can do without leaving the page. */
export function useActions(onHelp: () => void): Action[] {
  const { setColorScheme } = useMantineColorScheme();
  const { zone, setZone } = useZone();
  const { mutate: signOut } = useSignOut();
  return useMemo(
    () => [
      { kind: "action", label: "Theme: light", detail: "", run: () => setColorScheme("light") },
      { kind: "action", label: "Theme: dark", detail: "", run: () => setColorScheme("dark") },
      { kind: "action", label: "Theme: automatic", detail: "as the system has it", run: () => setColorScheme("auto") },
      zone === "utc"
        ? { kind: "action", label: "Show local time", detail: "time zone", run: () => setZone("local") }
        : { kind: "action", label: "Show times in UTC", detail: "time zone", run: () => setZone("utc") },
      { kind: "action", label: "Keyboard shortcuts", detail: "?", run: onHelp },
      { kind: "action", label: "Sign out", detail: "", run: () => signOut() },
    ],
    [setColorScheme, zone, setZone, onHelp, signOut],
  );
}
