import { accessRoute } from './access-route';
import { auditRoute } from './audit-route';
import { brokerRoute, formerBrokerRoute } from './broker-route';
import { capacityRoute } from './capacity-route';
import { clientRoute } from './client-route';
import { clientsRoute } from './clients-route';
import { consoleRoute } from './console-route';
import { consumerGroupRoute } from './consumer-group-route';
import { consumerGroupsRoute } from './consumer-groups-route';
import { containersRoute } from './containers-route';
import { findingsRoute } from './findings-route';
import { locksRoute } from './locks-route';
import { messageRoute } from './message-route';
import { messagesRoute } from './messages-route';
import { operationRoute } from './operation-route';
import { operationsRoute } from './operations-route';
import { overviewRoute } from './overview-route';
import { passwordRoute } from './password-route';
import { replicaGroupRoute } from './replica-group-route';
import { replicaGroupsRoute } from './replica-groups-route';
import { rootRoute } from './root-route';
import { shareQueuesRoute } from './share-queues-route';
import { signInRoute } from './sign-in-route';
import { timersRoute } from './timers-route';
import { topicRoute } from './topic-route';
import { topicsRoute } from './topics-route';
import { topologyRoute } from './topology-route';
import { transactionsRoute } from './transactions-route';

export const routeTree = rootRoute.addChildren([
  signInRoute,
  passwordRoute,
  consoleRoute.addChildren([
    overviewRoute,
    topologyRoute,
    replicaGroupsRoute,
    replicaGroupRoute,
    brokerRoute,
    formerBrokerRoute,
    topicsRoute,
    topicRoute,
    consumerGroupsRoute,
    consumerGroupRoute,
    clientsRoute,
    clientRoute,
    messagesRoute,
    messageRoute,
    locksRoute,
    shareQueuesRoute,
    timersRoute,
    transactionsRoute,
    containersRoute,
    findingsRoute,
    capacityRoute,
    operationsRoute,
    operationRoute,
    auditRoute,
    accessRoute,
  ]),
]);
