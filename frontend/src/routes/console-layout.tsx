import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { AppFrame } from '@/components/app-frame';
import { IgnoredNotice } from '@/components/ignored-notice';
import { PermissionsProvider } from '@/components/permissions';
import { ReadOnlyMark } from '@/components/read-only-mark';
import { ClusterPicker } from '@/features/clusters/cluster-picker';
import { clusterList } from '@/features/clusters/cluster-queries';
import { FindingsBadge } from '@/features/findings/findings-badge';
import { AccountMenu } from '@/features/session/account-menu';
import { currentSession } from '@/features/session/session-queries';
import { startLiveStream } from '@/lib/live/live-stream';
import { KeyboardHelp } from './keyboard-help';
import { useClusterName } from './use-cluster-name';
import { usePinnedCluster } from './use-pinned-cluster';

/** The frame of every page behind the door; it listens to the cluster for as long as it stands. */
export function ConsoleLayout() {
  const client = useQueryClient();
  const router = useRouter();
  const navigate = useNavigate();
  const { data: session } = useSuspenseQuery(currentSession);
  const permissions = useMemo(
    () => ({ refusals: session.refusals, riskMax: session.risk_max }),
    [session],
  );
  const clusters = useQuery(clusterList).data?.data.clusters.nodes ?? [];
  const clusterName = useClusterName();
  const { ignored } = router.options.context;
  const unread = useSyncExternalStore(ignored.subscribe, ignored.current);
  usePinnedCluster();
  useEffect(() => startLiveStream(client), [client]);
  return (
    <PermissionsProvider value={permissions}>
      <AppFrame
        cluster={
          <ClusterPicker
            names={clusters.map((cluster) => cluster.name)}
            current={clusterName}
            onPick={(cluster) => void navigate({ to: '.', search: { cluster } })}
          />
        }
        account={
          <>
            <ReadOnlyMark />
            <AccountMenu session={session} onSignedOut={() => router.history.push('/sign-in')} />
          </>
        }
        findings={clusterName === undefined ? null : <FindingsBadge clusterName={clusterName} />}
      >
        <KeyboardHelp />
        <IgnoredNotice ignored={unread} onDismiss={ignored.dismiss} />
        <Outlet />
      </AppFrame>
    </PermissionsProvider>
  );
}
