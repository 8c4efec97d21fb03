import { useLocalStorage } from "@mantine/hooks";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { formatClock, formatTime, type Zone } from "./format";

interface ZoneValue {
  zone: Zone;
  setZone: (zone: Zone) => void;
}

const Context = createContext<ZoneValue>({ zone: "local", setZone: () => undefined });

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [zone, setZone] = useLocalStorage<Zone>({
    key: "wallwatch-zone",
    defaultValue: "local",
    getInitialValueInEffect: false,
  });
  const value = useMemo(() => ({ zone, setZone }), [zone, setZone]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

export function useZone(): ZoneValue {
  return useContext(Context);
}

/** Formatters bound to the zone that the reader chose. */
export function useTimeFormat() {
  const { zone } = useZone();
  return useMemo(
    () => ({
      time: (at: string | number | Date | null | undefined) => formatTime(at, zone),
      clock: (at: string | number | Date) => formatClock(at, zone),
      zone,
    }),
    [zone],
  );
}
