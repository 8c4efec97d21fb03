import { Anchor } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, type ReactNode, Suspense } from "react";
import { useOpenIncidentCount } from "@/features/incidents/queries";
import { ConnectionBanner } from "./Connection";
import classes from "./Shell.module.css";
import { SideBar } from "./SideBar";
import { useTab } from "./tab";
import { TopBar } from "./TopBar";
import { useShortcuts } from "./useShortcuts";

// Each is fetched when it is opened for the first time.
const Palette = lazy(() => import("../palette/Palette").then((module) => ({ default: module.Palette })));
const NarrowMenu = lazy(() => import("./NarrowMenu").then((module) => ({ default: module.NarrowMenu })));
const ShortcutHelp = lazy(() => import("./ShortcutHelp").then((module) => ({ default: module.ShortcutHelp })));

interface Props {
  user: { username: string; role: string };
  children: ReactNode;
}

/** What is around every page: the side bar, which narrow screens have as a drawer, and the bar on top. */
export function Shell({ user, children }: Props) {
  const { help, palette } = useShortcuts();
  const [menu, { open: openMenu, close: closeMenu }] = useDisclosure(false);
  const open = useOpenIncidentCount() ?? 0;
  useTab(open);
  return (
    <div className={classes["shell"]}>
      <Anchor href="#content" className={classes["skip"]}>
        Skip to content
      </Anchor>
      <SideBar open={open} />
      {menu && (
        <Suspense>
          <NarrowMenu open={open} onClose={closeMenu} />
        </Suspense>
      )}
      <div className={classes["column"]}>
        <TopBar user={user} onMenu={openMenu} onHelp={help.open} onSearch={palette.open} />
        <ConnectionBanner />
        <main id="content" tabIndex={-1} className={classes["main"]}>
          {children}
        </main>
      </div>
      {palette.opened && (
        <Suspense>
          <Palette onClose={palette.close} onHelp={help.open} />
        </Suspense>
      )}
      {help.opened && (
        <Suspense>
          <ShortcutHelp onClose={help.close} />
        </Suspense>
      )}
    </div>
  );
}
