import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useTitle } from "@/lib/ui/useTitle";
import { BrandMark } from "@/lib/ui/BrandMark";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSignIn } from "@/shared/session";

/** Shown in place of every page while no one is signed in, so that a link still leads where it points afterwards. */
export function SignInPage() {
  const signIn = useSignIn();
  useTitle("Sign in");
  const form = useForm({
    initialValues: { username: "", password: "" },
    validate: {
      username: (value) => (value.trim() ? null : "Enter your user name"),
      password: (value) => (value ? null : "Enter your password"),
    },
  });
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={360} bg="var(--ww-panel)" style={{ borderColor: "var(--ww-line)" }}>
        <form onSubmit={form.onSubmit((values) => signIn.mutate(values))} noValidate>
          <Stack gap="sm">
            <BrandMark />
            <div>
              <Title order={1}>Sign in</Title>
              <Text size="sm" c="dimmed">
                See which RNICs are close to a hardware limit.
              </Text>
            </div>
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
            {signIn.isError && <ProblemNotice error={signIn.error} />}
            <Button type="submit" size="sm" loading={signIn.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
