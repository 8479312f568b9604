"""Define the errors of operations."""

from typing import Any

from backend.domain.errors import DomainError, ErrorKind
from backend.domain.share_queue import ShareQueueName


class OperationNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No operation has the id."""

    code = "operation_not_found"

    def __init__(self, operation_id: object) -> None:
        super().__init__(f"no operation {operation_id}")
        self.operation_id = operation_id


class OperationStateConflict(DomainError, kind=ErrorKind.CONFLICT):
    """The state of the operation does not allow the action; `why` also names possible actions."""

    code = "operation_state_conflict"

    def __init__(self, operation_id: object, state: str, verb: str, *, why: str = "") -> None:
        reason = f": {why}" if why else ""
        super().__init__(f"operation {operation_id} is {state} and can't be {verb}{reason}")
        self.operation_id, self.state, self.verb = operation_id, state, verb


class OperationFenced(DomainError, kind=ErrorKind.CONFLICT):
    """A worker tried to change an operation that another worker has taken over."""

    code = "operation_fenced"

    def __init__(self, operation_id: object, fence: int, *, held: int) -> None:
        super().__init__(f"operation {operation_id} is held under number {held}, not {fence}")
        self.operation_id, self.fence, self.held = operation_id, fence, held


class PlanExpired(DomainError, kind=ErrorKind.OUTDATED):
    """The plan had expired before its confirmation."""

    code = "plan_expired"

    def __init__(self, operation_id: object, expired_at: object) -> None:
        super().__init__(f"the plan {operation_id} was valid until {expired_at}: plan again")
        self.operation_id, self.expired_at = operation_id, expired_at


class PlanBlocked(DomainError, kind=ErrorKind.CONFLICT):
    """A check of the plan forbids its confirmation."""

    code = "plan_blocked"

    def __init__(self, check: str, why: str, *, stock_code: int | None = None) -> None:
        super().__init__(f"the plan is blocked by its check {check!r}: {why}")
        self.check, self.why, self.stock_code = check, why, stock_code

    @property
    def facts(self) -> dict[str, Any]:
        """Return the check, and the response code of RocketMQ if it has one."""
        code = {} if self.stock_code is None else {"stock_code": self.stock_code}
        return {**code, "check": self.check}


class PreconditionMoved(DomainError, kind=ErrorKind.OUTDATED):
    """A fact of the plan has changed."""

    code = "precondition_moved"

    def __init__(self, name: str, *, expected: str, found: str | None) -> None:
        now = "gone" if found is None else f"now {found}"
        super().__init__(f"{name} was {expected} when this was planned and is {now}: plan again")
        self.name, self.expected, self.found = name, expected, found

    @property
    def facts(self) -> dict[str, Any]:
        """Return the precondition with both values."""
        return {"precondition": self.name, "expected": self.expected, "found": self.found}


class ConfirmationMissing(DomainError, kind=ErrorKind.UNCONFIRMED):
    """The confirmation lacks something that the gate of the risk class needs."""

    code = "confirmation_missing"

    def __init__(self, what: str) -> None:
        super().__init__(f"to confirm this, {what}")
        self.what = what


class InvalidParameters(DomainError, kind=ErrorKind.INVALID):
    """The parameters of an order are invalid for its kind."""

    code = "invalid_parameters"

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")
        self.operation_kind, self.reason = kind, reason


class NotUndoable(DomainError, kind=ErrorKind.CONFLICT):
    """An operation can't be undone."""

    code = "not_undoable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"this can't be undone: {reason}")
        self.reason = reason


class IdempotencyKeyReused(DomainError, kind=ErrorKind.REUSED):
    """An idempotency key was used again with another request."""

    code = "idempotency_key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(f"the idempotency key {key[:100]!r} belongs to another request")
        self.key = key


class DeadLettersNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """A consumer group has no dead letters to resend."""

    code = "dead_letters_not_found"

    def __init__(self, cluster_name: str, consumer_group_name: str, why: str) -> None:
        super().__init__(
            f"consumer group {consumer_group_name!r} of cluster {cluster_name!r} has no dead letter"
            f" to send: {why}"
        )
        self.cluster_name, self.consumer_group_name = cluster_name, consumer_group_name


class LockNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No broker that answered has such a lock."""

    code = "lock_not_found"

    def __init__(self, cluster_name: str, what: str, *, unknown_count: int) -> None:
        unknown = f"; {unknown_count} brokers do not report their locks" if unknown_count else ""
        super().__init__(f"no broker of cluster {cluster_name!r} holds {what}{unknown}")
        self.cluster_name, self.what, self.unknown_count = cluster_name, what, unknown_count


class TransactionNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No master that answered has such a pending transaction."""

    code = "transaction_not_found"

    def __init__(self, cluster_name: str, transaction_id: str, *, unknown_count: int) -> None:
        unknown = f"; {unknown_count} brokers did not list all of theirs" if unknown_count else ""
        super().__init__(
            f"no broker of cluster {cluster_name!r} has a pending transaction"
            f" {transaction_id!r}{unknown}"
        )
        self.cluster_name, self.unknown_count = cluster_name, unknown_count


class WaitingMessageNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """The message of a handle does not wait for its time."""

    code = "waiting_message_not_found"

    def __init__(self, cluster_name: str, unique_key: str, why: str) -> None:
        super().__init__(f"the message {unique_key!r} in cluster {cluster_name!r} {why}")
        self.cluster_name, self.unique_key = cluster_name, unique_key


class ShareQueueNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """A consumer group has no such share queue on a broker group."""

    code = "share_queue_not_found"

    def __init__(self, cluster_name: str, broker_group_name: str, name: ShareQueueName) -> None:
        super().__init__(
            f"consumer group {name.consumer_group_name!r} has no share queue for queue"
            f" {name.queue_id} of topic {name.topic!r} on broker group {broker_group_name!r} of"
            f" cluster {cluster_name!r}: its consumers have not used POP there"
        )
        self.cluster_name, self.broker_group_name, self.name = cluster_name, broker_group_name, name


class ShareLeasesNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No member of a broker group owns a share queue that the order means."""

    code = "share_leases_not_found"

    def __init__(self, cluster_name: str, broker_group_name: str) -> None:
        super().__init__(
            f"broker group {broker_group_name!r} of cluster {cluster_name!r} has nothing to hand"
            " over: the next owner has each such share queue already, or no member has its lease,"
            " as in PRIMARY mode"
        )
        self.cluster_name, self.broker_group_name = cluster_name, broker_group_name


class SharedMessagesNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """No consumer has a message that the order means."""

    code = "shared_messages_not_found"

    def __init__(self, cluster_name: str, what: str) -> None:
        super().__init__(f"in cluster {cluster_name!r} {what}")
        self.cluster_name = cluster_name


class BrokerStillCounted(DomainError, kind=ErrorKind.CONFLICT):
    """The broker to forget is online now."""

    code = "broker_still_counted"

    def __init__(self, broker_group_name: str, broker_id: int) -> None:
        super().__init__(
            f"broker {broker_id} of group {broker_group_name!r} is registered: stop it before it is"
            " forgotten"
        )
        self.broker_group_name, self.broker_id = broker_group_name, broker_id


class ChangeRefused(DomainError, kind=ErrorKind.CONFLICT):
    """A broker refused a change of a step; nothing has changed."""

    code = "change_refused"

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"broker {address} refuses it: {reason}")
        self.address, self.reason = address, reason


class MasterReplaced(DomainError, kind=ErrorKind.CONFLICT):
    """Another broker became the master while an operation ran; nothing has changed."""

    code = "master_replaced"

    def __init__(self, broker_group_name: str, planned: str, *, present: str) -> None:
        super().__init__(
            f"the master of broker group {broker_group_name!r} is {present}, not {planned} as"
            " planned: undo the operation, then plan it again"
        )
        self.broker_group_name, self.planned, self.present = broker_group_name, planned, present


class ConsumerGroupNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """None of the asked brokers knows the consumer group."""

    code = "consumer_group_not_found"

    def __init__(self, cluster_name: str, broker_group_name: str) -> None:
        super().__init__(f"no consumer group {broker_group_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.broker_group_name = cluster_name, broker_group_name


class BrokerUnknown(DomainError, kind=ErrorKind.NOT_FOUND):
    """The records of the cluster contain no broker of the group with the id or the address."""

    code = "broker_unknown"

    def __init__(self, cluster_name: str, broker_group_name: str, broker_id: int | str) -> None:
        super().__init__(
            f"no broker {broker_id} of group {broker_group_name!r} in cluster {cluster_name!r}:"
            " regent broker list"
        )
        self.cluster_name, self.broker_group_name, self.broker_id = (
            cluster_name,
            broker_group_name,
            broker_id,
        )


class BrokerSilent(DomainError, kind=ErrorKind.UNAVAILABLE):
    """A required broker gave no answer, or an unexpected one."""

    code = "broker_silent"

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"broker {address} does not report it: {reason}")
        self.address, self.reason = address, reason
