import { PasswordInput, type PasswordInputProps } from "@mantine/core";

/** The password of whoever sits here: a session that was left open must not be enough for what follows. */
export function CurrentPassword(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Current password"
      autoComplete="current-password"
      data-autofocus
      visibilityToggleButtonProps={{ "aria-label": "Show current password" }}
      {...props}
    />
  );
}
