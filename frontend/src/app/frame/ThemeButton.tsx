import { ActionIcon, Tooltip, useMantineColorScheme } from "@mantine/core";
import { IconBrightness, IconMoon, IconSun } from "@tabler/icons-react";

const THEMES = {
  auto: { name: "automatic", icon: IconBrightness, next: "light" },
  light: { name: "light", icon: IconSun, next: "dark" },
  dark: { name: "dark", icon: IconMoon, next: "auto" },
} as const;

/** Automatic, as the system has it, then light, then dark. */
export function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { name, icon: Icon, next } = THEMES[colorScheme];
  const label = `Theme: ${name}. Switch to ${THEMES[next].name}`;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="md" aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon size={17} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}
