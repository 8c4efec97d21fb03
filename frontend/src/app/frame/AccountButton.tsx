import { ActionIcon, type ActionIconProps, type ElementProps } from "@mantine/core";
import { IconUser } from "@tabler/icons-react";

interface Props extends ActionIconProps, ElementProps<"button", keyof ActionIconProps> {
  username: string;
}

/** What opens the menu of the account, before and after the menu's code is there. */
export function AccountButton({ username, ...rest }: Props) {
  return (
    <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Account of ${username}`} {...rest}>
      <IconUser size={17} stroke={1.6} />
    </ActionIcon>
  );
}
