import { ActionIcon, SegmentedControl, Tooltip, UnstyledButton } from "@mantine/core";
import { IconKeyboard, IconMenu2, IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useZone } from "@/lib/time/ZoneContext";
import { AccountButton } from "./AccountButton";
import { ConnectionIndicator } from "./Connection";
import classes from "./Shell.module.css";
import { ThemeButton } from "./ThemeButton";
import { Trail } from "./Trail";

const LOCAL_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface Props {
  user: { username: string; role: string };
  onMenu: () => void;
  onHelp: () => void;
  onSearch: () => void;
}

const loadMenu = () => import("./AccountMenu");
const AccountMenu = lazy(() => loadMenu().then((module) => ({ default: module.AccountMenu })));

/** Its menu is fetched when somebody points at it, at the latest when it is opened. */
function Account({ user }: Pick<Props, "user">) {
  const [wanted, setWanted] = useState(false);
  const button = (
    <AccountButton
      username={user.username}
      aria-haspopup="menu"
      onPointerEnter={() => void loadMenu()}
      onClick={() => setWanted(true)}
    />
  );
  return wanted ? (
    <Suspense fallback={button}>
      <AccountMenu user={user} />
    </Suspense>
  ) : (
    button
  );
}

/** Where the reader is, and what holds for every page. */
export function TopBar({ user, onMenu, onHelp, onSearch }: Props) {
  const { zone, setZone } = useZone();
  return (
    <header className={classes["top"]}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Open the menu"
        onClick={onMenu}
        className={classes["burger"]}
      >
        <IconMenu2 size={20} stroke={1.6} />
      </ActionIcon>
      <Trail />
      <div className={classes["tools"]}>
        <UnstyledButton className={classes["search"]} aria-keyshortcuts="Control+K" onClick={onSearch}>
          <IconSearch size={15} stroke={1.6} aria-hidden />
          <span>Search or go to…</span>
          <kbd aria-hidden>Ctrl K</kbd>
        </UnstyledButton>
        <ConnectionIndicator />
        <SegmentedControl
          className={classes["wideOnly"]}
          aria-label="Time zone"
          title={`Local is ${LOCAL_ZONE}`}
          value={zone}
          onChange={(value) => setZone(value === "utc" ? "utc" : "local")}
          data={[
            { value: "local", label: "Local" },
            { value: "utc", label: "UTC" },
          ]}
        />
        <ThemeButton />
        <Tooltip label="Keyboard shortcuts ( ? )">
          <ActionIcon
            variant="subtle"
            color="gray"
            size="md"
            aria-label="Keyboard shortcuts"
            onClick={onHelp}
            className={classes["wideOnly"]}
          >
            <IconKeyboard size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Account user={user} />
      </div>
    </header>
  );
}
