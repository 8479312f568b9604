import {
  IconAlertTriangle,
  IconArrowsExchange,
  IconBox,
  IconChartHistogram,
  IconClock,
  IconCrown,
  IconGauge,
  IconListCheck,
  IconLock,
  IconMail,
  IconPlugConnected,
  IconShare,
  IconShieldCheck,
  IconSitemap,
  IconStack2,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './app-rail.module.css';

const places = [
  { to: '/', word: 'overview', Icon: IconGauge, exact: true },
  { to: '/topology', word: 'topology', Icon: IconSitemap, exact: false },
  { to: '/replica-groups', word: 'replicaGroups', Icon: IconCrown, exact: false },
  { to: '/topics', word: 'topics', Icon: IconStack2, exact: false },
  { to: '/consumer-groups', word: 'consumerGroups', Icon: IconUsersGroup, exact: false },
  { to: '/clients', word: 'clients', Icon: IconPlugConnected, exact: false },
  { to: '/messages', word: 'messages', Icon: IconMail, exact: false },
  { to: '/locks', word: 'locks', Icon: IconLock, exact: false },
  { to: '/share-queues', word: 'shareQueues', Icon: IconShare, exact: false },
  { to: '/timers', word: 'timers', Icon: IconClock, exact: false },
  { to: '/transactions', word: 'transactions', Icon: IconArrowsExchange, exact: false },
  { to: '/containers', word: 'containers', Icon: IconBox, exact: false },
  { to: '/findings', word: 'findings', Icon: IconAlertTriangle, exact: false },
  { to: '/capacity', word: 'capacity', Icon: IconChartHistogram, exact: false },
  { to: '/operations', word: 'operations', Icon: IconListCheck, exact: false },
  { to: '/audit', word: 'audit', Icon: IconShieldCheck, exact: false },
  { to: '/access', word: 'access', Icon: IconUsers, exact: false },
] as const;

type AppRailProps = {
  /** How many findings are open, beside their entry. */
  findings: ReactNode;
};

/** The left rail: one entry per task. On a narrow screen it is a line that scrolls. */
export function AppRail({ findings }: AppRailProps) {
  const { t } = useTranslation();
  const list = useRef<HTMLUListElement>(null);
  const path = useLocation({ select: (location) => location.pathname });

  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another link current
  useEffect(() => {
    const current = list.current?.querySelector('[aria-current="page"]');
    // Test environments lay nothing out and have no such method.
    current?.scrollIntoView?.({ block: 'nearest', inline: 'center' });
  }, [path]);

  return (
    <div className={classes.rail}>
      <div className={classes.brand}>
        <img src="/mark.svg" width={22} height={22} alt="" />
        <span>Regent</span>
      </div>
      <nav aria-label={t('nav.label')}>
        <ul ref={list} className={classes.list}>
          {places.map(({ to, word, Icon, exact }) => (
            <li key={to}>
              <Link
                to={to}
                className={classes.link}
                activeOptions={{ exact, includeSearch: false }}
                search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
              >
                <Icon size={16} stroke={1.7} aria-hidden />
                {t(`nav.${word}`)}
                {word === 'findings' ? findings : null}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </div>
  );
}
