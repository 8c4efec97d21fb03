"""Users and rights at Kafka: what `topics.yaml` declares, and nothing else.

The broker must ask who somebody is (SASL) and have an authorizer that refuses what is not granted. Only rights of our own users are
touched; the admin is a superuser of the broker and needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from wallwatch.domain.telemetry.registry import KafkaRole, topics
from wallwatch.store.password_files import checked, read_or_create

TIMEOUT_S = 30.0
ITERATIONS = 8192
CHANGELOGS = "changelog__wallwatch-classify"
"""Beginning of the topic in which `classify` keeps its state (changelog__GROUP--...); it creates the topic itself."""

GROUPS = {
    KafkaRole.ingest: "wallwatch-ingest",
    KafkaRole.classify: "wallwatch-classify",
    KafkaRole.isolation: "wallwatch-isolation",
    KafkaRole.validate: "wallwatch-validate",
    KafkaRole.backend: "wallwatch-backend",
}
"""Beginnings of the names of consumer groups: the defaults of the settings."""

VARIABLE_PREFIX = "WALLWATCH_KAFKA_PASSWORD_"
"""Beginning of the variables that hold passwords of users, such as WALLWATCH_KAFKA_PASSWORD_INGEST."""

LIMITED = tuple(role for role in KafkaRole if role is not KafkaRole.admin)


@dataclass(frozen=True, slots=True)
class Changed:
    """What was changed at the broker."""

    users: int
    granted: int
    revoked: int


def bindings() -> Iterator[AclBinding]:
    """Every right that some role needs."""
    for topic in topics().values():
        for role in topic.writers:
            yield _allow(role, ResourceType.TOPIC, topic.name, AclOperation.WRITE)
            yield _allow(role, ResourceType.TOPIC, topic.name, AclOperation.DESCRIBE)
        for role in topic.readers:
            for operation in (AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS):
                yield _allow(role, ResourceType.TOPIC, topic.name, operation)
    for operation in (
        AclOperation.CREATE,
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
    ):
        yield _allow(KafkaRole.classify, ResourceType.TOPIC, CHANGELOGS, operation, ResourcePatternType.PREFIXED)
    for role, group in GROUPS.items():
        for operation in (AclOperation.READ, AclOperation.DESCRIBE):
            yield _allow(role, ResourceType.GROUP, group, operation, ResourcePatternType.PREFIXED)


def apply(admin: AdminClient, passwords: Mapping[KafkaRole, str]) -> Changed:
    """Set the given passwords, grant what is missing and revoke what is no longer declared.

    Raises
    ------
    KafkaException
        When the broker does not answer, has no authorizer, or refuses.
    """
    # Rights first: a process that waits for its user would otherwise be refused for a moment, and ask again only after minutes.
    wanted = set(bindings())
    present = _present(admin)
    for binding_future in admin.create_acls(list(wanted - present), request_timeout=TIMEOUT_S).values() if wanted - present else ():
        binding_future.result(TIMEOUT_S)
    upserted = [
        UserScramCredentialUpsertion(role.user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS), password.encode())
        for role, password in passwords.items()
    ]
    if upserted:
        for future in admin.alter_user_scram_credentials(upserted, request_timeout=TIMEOUT_S).values():
            future.result(TIMEOUT_S)
    surplus = [_exactly(one) for one in present - wanted]
    for filter_future in admin.delete_acls(surplus, request_timeout=TIMEOUT_S).values() if surplus else ():
        filter_future.result(TIMEOUT_S)
    return Changed(len(upserted), len(wanted - present), len(surplus))


def passwords_of(folder: Path) -> dict[KafkaRole, str]:
    """The password of each role from a file named after its user; missing files are created, mode 0600, with random passwords.

    Raises
    ------
    PasswordProblem
        When a file cannot be read or written, or its password cannot be used.
    """
    return {role: read_or_create(folder / role.user) for role in KafkaRole}


def passwords_in(environment: Mapping[str, str]) -> dict[KafkaRole, str]:
    """The password of each limited role that has a variable. The admin has none: the broker knows its password without creating it.

    Raises
    ------
    PasswordProblem
        When a password is too short or cannot be used.
    """
    variables = {role: f"{VARIABLE_PREFIX}{role.name.upper()}" for role in LIMITED}
    return {role: checked(environment[name], name) for role, name in variables.items() if environment.get(name)}


def _allow(
    role: KafkaRole,
    kind: ResourceType,
    name: str,
    operation: AclOperation,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> AclBinding:
    return AclBinding(kind, name, pattern, f"User:{role.user}", "*", operation, AclPermissionType.ALLOW)


def _present(admin: AdminClient) -> set[AclBinding]:
    found: set[AclBinding] = set()
    for role in LIMITED:
        asked = AclBindingFilter(
            ResourceType.ANY, None, ResourcePatternType.ANY, f"User:{role.user}", None, AclOperation.ANY, AclPermissionType.ANY
        )
        found.update(admin.describe_acls(asked, request_timeout=TIMEOUT_S).result(TIMEOUT_S))
    return found


def _exactly(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype,
        binding.name,
        binding.resource_pattern_type,
        binding.principal,
        binding.host,
        binding.operation,
        binding.permission_type,
    )
