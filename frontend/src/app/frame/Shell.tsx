import { Anchor, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, type ReactNode, Suspense } from "react";
import { useOpenIncidentCount } from "@/features/incidents/queries";
import { BrandMark } from "@/lib/ui/BrandMark";
import { ConnectionBanner } from "./Connection";
import { Navigation } from "./Navigation";
import classes from "./Shell.module.css";
import { ShortcutHelp } from "./ShortcutHelp";
import { SideBar } from "./SideBar";
import { useTab } from "./tab";
import { TopBar } from "./TopBar";
import { useShortcuts } from "./useShortcuts";

/** Fetched when it is opened for the first time. */
const Palette = lazy(() => import("../palette/Palette").then((module) => ({ default: module.Palette })));

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
      <Drawer
        opened={menu}
        onClose={closeMenu}
        size={260}
        title={<BrandMark />}
        closeButtonProps={{ "aria-label": "Close the menu" }}
        classNames={{ content: classes["drawer"], header: classes["drawerHeader"], body: classes["drawerBody"] }}
      >
        <Navigation open={open} onGo={closeMenu} />
      </Drawer>
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
      <ShortcutHelp opened={help.opened} onClose={help.close} />
    </div>
  );
}
