import "@/lib/ui/mantineMore.css";
import { Menu, Text } from "@mantine/core";
import { IconClock, IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useZone } from "@/lib/time/ZoneContext";
import { useSignOut } from "@/shared/session";
import { AccountButton } from "./AccountButton";
import classes from "./Shell.module.css";

/** Open from the beginning: it was fetched because somebody asked for it. */
export function AccountMenu({ user }: { user: { username: string; role: string } }) {
  const { zone, setZone } = useZone();
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end" defaultOpened>
      <Menu.Target>
        <AccountButton username={user.username} />
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
