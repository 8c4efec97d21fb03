import { Anchor, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useTitle } from "@/lib/ui/useTitle";
import { BrandMark } from "@/lib/ui/BrandMark";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSignIn, useSignInMethods } from "@/shared/session";

function LocalForm({ emphasis }: { emphasis: boolean }) {
  const signIn = useSignIn();
  const form = useForm({
    initialValues: { username: "", password: "" },
    validate: {
      username: (value) => (value.trim() ? null : "Enter your user name"),
      password: (value) => (value ? null : "Enter your password"),
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))} noValidate>
      <Stack gap="sm">
        <TextInput label="User name" autoComplete="username" autoFocus size="sm" {...form.getInputProps("username")} />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          size="sm"
          visibilityToggleButtonProps={{ "aria-label": "Show password" }}
          {...form.getInputProps("password")}
        />
        {signIn.isError && <ProblemNotice error={signIn.error} />}
        <Button type="submit" size="sm" variant={emphasis ? "filled" : "default"} loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

/** Shown in place of every page while no one is signed in, so that a link still leads where it points afterwards. */
export function SignInPage() {
  const methods = useSignInMethods();
  const [revealed, { open: reveal }] = useDisclosure(false);
  useTitle("Sign in");
  const provider = methods.data?.single_sign_on ?? null;
  const hidden = provider !== null && methods.data?.local === "admins" && !revealed;
  const next = encodeURIComponent(window.location.pathname + window.location.search);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={360} bg="var(--ww-panel)" style={{ borderColor: "var(--ww-line)" }}>
        <Stack gap="sm">
          <BrandMark />
          <div>
            <Title order={1}>Sign in</Title>
            <Text size="sm" c="dimmed">
              See which RNICs are close to a hardware limit.
            </Text>
          </div>
          {provider !== null && (
            <Button component="a" href={`/api/v1/session/oidc?next=${next}`} size="sm">
              Sign in with {provider}
            </Button>
          )}
          {hidden ? (
            <Anchor component="button" type="button" size="sm" onClick={reveal}>
              Sign in as an administrator with a password
            </Anchor>
          ) : (
            <LocalForm emphasis={provider === null} />
          )}
        </Stack>
      </Paper>
    </Center>
  );
}
