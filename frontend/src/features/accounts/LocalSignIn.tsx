import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { Problem } from "@/lib/api/problem";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSignIn } from "@/shared/session";

const needsCode = (error: unknown) => error instanceof Problem && error.code === "second_factor_required";

/** User name and password; then the code of the second factor, for accounts that have one. */
export function LocalSignIn({ emphasis }: { emphasis: boolean }) {
  const signIn = useSignIn();
  const [asksForCode, setAsksForCode] = useState(false);
  const form = useForm({
    initialValues: { username: "", password: "", code: "" },
    validate: {
      username: (value) => (value.trim() ? null : "Enter your user name"),
      password: (value) => (value ? null : "Enter your password"),
      code: (value) => (!asksForCode || value.trim() ? null : "Enter a code"),
    },
  });
  const submit = form.onSubmit(({ username, password, code }) =>
    signIn.mutate(asksForCode ? { username, password, code: code.trim() } : { username, password }, {
      onError: (error) => {
        if (needsCode(error)) setAsksForCode(true);
        form.setFieldValue("code", "");
      },
    }),
  );
  const startOver = () => {
    setAsksForCode(false);
    signIn.reset();
    form.reset();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {asksForCode ? (
          <>
            <Text size="sm">
              Signing in as <strong>{form.values.username.trim()}</strong>.
            </Text>
            <TextInput
              label="Code"
              description="Of your authenticator app, or a recovery code"
              autoComplete="one-time-code"
              autoFocus
              size="sm"
              {...form.getInputProps("code")}
            />
          </>
        ) : (
          <>
            <TextInput
              label="User name"
              autoComplete="username"
              autoFocus
              size="sm"
              {...form.getInputProps("username")}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              size="sm"
              visibilityToggleButtonProps={{ "aria-label": "Show password" }}
              {...form.getInputProps("password")}
            />
          </>
        )}
        {signIn.isError && !needsCode(signIn.error) && <ProblemNotice error={signIn.error} />}
        <Button type="submit" size="sm" variant={emphasis ? "filled" : "default"} loading={signIn.isPending}>
          Sign in
        </Button>
        {asksForCode && (
          <Anchor component="button" type="button" size="sm" onClick={startOver}>
            Use another account
          </Anchor>
        )}
      </Stack>
    </form>
  );
}
