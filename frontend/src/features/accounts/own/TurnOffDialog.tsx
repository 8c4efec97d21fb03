import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { FormDialog } from "@/lib/ui/FormDialog";
import { CurrentPassword } from "./CurrentPassword";
import { useTurnOffSecondFactor } from "./queries";

export function TurnOffDialog({ onClose }: { onClose: () => void }) {
  const turnOff = useTurnOffSecondFactor();
  const form = useForm({
    initialValues: { password: "", code: "" },
    validate: {
      password: (value) => (value ? null : "Enter your current password"),
      code: (value) => (value.trim() ? null : "Enter a code"),
    },
  });
  return (
    <FormDialog
      title="Turn off the second factor"
      submit="Turn off"
      request={turnOff}
      onSubmit={form.onSubmit(({ password, code }) =>
        turnOff.mutate({ current_password: password, code: code.trim() }, { onSuccess: onClose }),
      )}
      onClose={onClose}
    >
      <CurrentPassword {...form.getInputProps("password")} />
      <TextInput
        label="Code"
        description="Of your authenticator app, or a recovery code."
        autoComplete="one-time-code"
        {...form.getInputProps("code")}
      />
    </FormDialog>
  );
}
