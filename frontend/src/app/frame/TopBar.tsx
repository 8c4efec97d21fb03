import { ActionIcon, Menu, SegmentedControl, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { IconClock, IconKeyboard, IconLogout, IconMenu2, IconSearch, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useZone } from "@/lib/time/ZoneContext";
import { useSignOut } from "@/shared/session";
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

function Account({ user }: Pick<Props, "user">) {
  const { zone, setZone } = useZone();
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Account of ${user.username}`}>
          <IconUser size={17} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} style={{ color: "var(--ww-text)" }}>
            {user.username}
          </Text>
          role: {user.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={14} />}>
          Account
        </Menu.Item>
        <Menu.Item
          leftSection={<IconClock size={14} />}
          onClick={() => setZone(zone === "utc" ? "local" : "utc")}
          className={classes["narrowOnly"]}
        >
          {zone === "utc" ? "Show local time" : "Show times in UTC"}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={14} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
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
