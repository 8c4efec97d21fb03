import { Anchor, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { FormDialog } from "@/lib/ui/FormDialog";
import { SecretOnce } from "@/lib/ui/SecretOnce";
import { CurrentPassword } from "./CurrentPassword";
import { EnrolmentCode } from "./EnrolmentCode";
import { useConfirmSecondFactor, useStartSecondFactor } from "./queries";

/** Groups of four are easier to type from a screen. */
export function inGroups(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(" ") ?? "";
}

/** Three steps: the password, the secret for the app with a first code, the recovery codes. */
export function TurnOnDialog({ onClose }: { onClose: () => void }) {
  const start = useStartSecondFactor();
  const confirm = useConfirmSecondFactor();
  const form = useForm({
    initialValues: { password: "", code: "" },
    validate: {
      password: (value) => (value ? null : "Enter your current password"),
      code: (value) => (start.data === undefined || value.trim() ? null : "Enter the code that the app shows"),
    },
  });
  const enrolment = start.data;
  return (
    <FormDialog
      title="Turn on the second factor"
      submit={enrolment ? "Turn on" : "Continue"}
      request={enrolment ? confirm : start}
      onSubmit={form.onSubmit(({ password, code }) =>
        enrolment ? confirm.mutate({ code: code.trim() }) : start.mutate({ current_password: password }),
      )}
      onClose={onClose}
      outcome={
        confirm.data && (
          <SecretOnce
            label="Recovery codes"
            secret={confirm.data.recovery_codes.join("\n")}
            hint="The second factor is on. Each of these codes signs you in once when you do not have the app: keep them in a safe place."
          />
        )
      }
    >
      {enrolment ? (
        <>
          <Group gap={16} align="flex-start">
            <EnrolmentCode uri={enrolment.uri} />
            <Stack gap={12} style={{ flex: "1 1 280px" }}>
              <Text size="sm">Add an account in your authenticator app by scanning this QR code.</Text>
              <SecretOnce
                label="Secret"
                secret={inGroups(enrolment.secret)}
                hint="If you cannot scan it, enter this secret in the app: 6 digits, every 30 seconds."
              />
              <Text size="sm">
                Is the app on this device?{" "}
                <Anchor underline="always" href={enrolment.uri}>
                  Open it with the secret
                </Anchor>
              </Text>
            </Stack>
          </Group>
          <TextInput
            key="code"
            label="Code"
            description="The one that the app shows now. It proves that the app has the secret; your other sessions end."
            autoComplete="one-time-code"
            inputMode="numeric"
            autoFocus
            {...form.getInputProps("code")}
          />
        </>
      ) : (
        <CurrentPassword {...form.getInputProps("password")} />
      )}
    </FormDialog>
  );
}
