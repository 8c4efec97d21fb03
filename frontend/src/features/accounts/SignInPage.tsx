import "@/lib/ui/mantineMore.css";
import { Anchor, Button, Center, Paper, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useTitle } from "@/lib/ui/useTitle";
import { BrandMark } from "@/lib/ui/BrandMark";
import { useSignInMethods } from "@/shared/session";
import { LocalSignIn } from "./LocalSignIn";

/** Shown in place of every page while no one is signed in, so that a link still leads where it points afterwards. */
export function SignInPage() {
  const methods = useSignInMethods();
  useTitle("Sign in");
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
          {methods.isPending ? (
            <Skeleton height={180} role="status" aria-label="Loading" />
          ) : (
            // Without an answer the form of local accounts stays: it says itself what the server refuses.
            <Methods provider={methods.data?.single_sign_on ?? null} local={methods.data?.local ?? "all"} />
          )}
        </Stack>
      </Paper>
    </Center>
  );
}

function Methods({ provider, local }: { provider: string | null; local: "all" | "admins" }) {
  const [revealed, { open: reveal }] = useDisclosure(false);
  const next = encodeURIComponent(window.location.pathname + window.location.search);
  if (provider === null) return <LocalSignIn emphasis />;
  return (
    <>
      <Button component="a" href={`/api/v1/session/oidc?next=${next}`} size="sm">
        Sign in with {provider}
      </Button>
      {local === "admins" && !revealed ? (
        <Anchor component="button" type="button" size="sm" onClick={reveal}>
          Sign in as an administrator with a password
        </Anchor>
      ) : (
        <LocalSignIn emphasis={false} />
      )}
    </>
  );
}
