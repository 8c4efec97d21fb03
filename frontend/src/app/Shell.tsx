import { ActionIcon, Anchor, Group, Menu, SegmentedControl, Text, Tooltip, useMantineColorScheme } from "@mantine/core";
import { IconKeyboard, IconLogout, IconMoon, IconSun, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useZone } from "@/lib/time/ZoneContext";
import { BrandMark } from "@/lib/ui/BrandMark";
import { useSignOut } from "@/shared/session";
import { ConnectionBanner, ConnectionIndicator } from "./Connection";
import { Navigation } from "./Navigation";
import classes from "./Shell.module.css";
import { ShortcutHelp } from "./ShortcutHelp";
import { useShortcuts } from "./useShortcuts";

const LOCAL_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface Props {
  user: { username: string; role: string };
  children: ReactNode;
}

export function Shell({ user, children }: Props) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { zone, setZone } = useZone();
  const signOut = useSignOut();
  const help = useShortcuts();
  const next = colorScheme === "dark" ? "light" : "dark";
  return (
    <div className={classes["shell"]}>
      <Anchor href="#content" className={classes["skip"]}>
        Skip to content
      </Anchor>
      <header className={classes["header"]}>
        <Link to="/" className={classes["brand"]} aria-label="Wallwatch, go to the fleet">
          <BrandMark />
        </Link>
        <Navigation />
        <Group gap={10} ml="auto" wrap="nowrap">
          <ConnectionIndicator />
          <SegmentedControl
            aria-label="Time zone"
            title={`Local is ${LOCAL_ZONE}`}
            value={zone}
            onChange={(value) => setZone(value === "utc" ? "utc" : "local")}
            data={[
              { value: "local", label: "Local" },
              { value: "utc", label: "UTC" },
            ]}
          />
          <Tooltip label={`Switch to the ${next} theme`}>
            <ActionIcon
              variant="default"
              size="md"
              aria-label={`Switch to the ${next} theme`}
              onClick={() => setColorScheme(next)}
            >
              {colorScheme === "dark" ? <IconSun size={16} /> : <IconMoon size={16} />}
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Keyboard shortcuts ( ? )">
            <ActionIcon variant="default" size="md" aria-label="Keyboard shortcuts" onClick={help.open}>
              <IconKeyboard size={16} />
            </ActionIcon>
          </Tooltip>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="default" size="md" aria-label={`Account of ${user.username}`}>
                <IconUser size={16} />
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
              <Menu.Item leftSection={<IconLogout size={14} />} onClick={() => signOut.mutate()}>
                Sign out
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      </header>
      <ConnectionBanner />
      <main id="content" tabIndex={-1} className={classes["main"]}>
        {children}
      </main>
      <ShortcutHelp opened={help.opened} onClose={help.close} />
    </div>
  );
}
