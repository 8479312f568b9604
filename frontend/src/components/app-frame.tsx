import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './app-frame.module.css';
import { AppRail } from './app-rail';
import { ColorSchemeSwitch } from './color-scheme-switch';
import { StreamBadge } from './stream-badge';

type AppFrameProps = {
  cluster: ReactNode;
  account: ReactNode;
  findings: ReactNode;
  children: ReactNode;
};

/** What stays while pages change: the rail, and the header with the cluster's name. */
export function AppFrame({ cluster, account, findings, children }: AppFrameProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.frame}>
      <a href="#main" className={classes.skip}>
        {t('nav.skip')}
      </a>
      <AppRail findings={findings} />
      <header className={classes.header}>
        {cluster}
        <div className={classes.tools}>
          <StreamBadge />
          <ColorSchemeSwitch />
          {account}
        </div>
      </header>
      <main id="main" className={classes.main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
