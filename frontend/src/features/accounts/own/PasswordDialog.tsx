import { PasswordInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SHORTEST_PASSWORD } from "../passwords";
import { CurrentPassword } from "./CurrentPassword";
import { useChangePassword } from "./queries";

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const change = useChangePassword();
  const form = useForm({
    initialValues: { current: "", next: "", again: "" },
    validate: {
      current: (value) => (value ? null : "Enter your current password"),
      next: (value) => (value.length >= SHORTEST_PASSWORD ? null : `At least ${SHORTEST_PASSWORD} characters`),
      again: (value, { next }) => (value === next ? null : "Enter the same password again"),
    },
  });
  return (
    <FormDialog
      title="Change password"
      submit="Change password"
      request={change}
      onSubmit={form.onSubmit(({ current, next }) =>
        change.mutate(
          { current_password: current, new_password: next },
          {
            onSuccess: () => {
              notifications.show({ message: "Password changed. Your other sessions have ended." });
              onClose();
            },
          },
        ),
      )}
      onClose={onClose}
    >
      <CurrentPassword {...form.getInputProps("current")} />
      <PasswordInput
        label="New password"
        description={`At least ${SHORTEST_PASSWORD} characters. Your other sessions end.`}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": "Show new password" }}
        {...form.getInputProps("next")}
      />
      <PasswordInput
        label="New password again"
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": "Show new password again" }}
        {...form.getInputProps("again")}
      />
    </FormDialog>
  );
}
