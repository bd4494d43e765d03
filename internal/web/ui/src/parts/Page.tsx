import type { ReactNode } from 'react';
import type { Boot } from '../boot';
import { LanguageMenu } from './LanguageMenu';

/** The frame of every screen outside a meeting: the brand, and one calm column. */
export function Page({
  brand,
  wide,
  children,
}: {
  brand: Boot['brand'];
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <div className="page">
      <header className="page-header">
        <Brand brand={brand} />
        <LanguageMenu />
      </header>
      <main className={wide ? 'page-main wide' : 'page-main'}>{children}</main>
    </div>
  );
}

export function Brand({ brand }: { brand: Boot['brand'] }) {
  return (
    <span className="brand">
      {brand.logo ? (
        <img className="brand-logo" src={brand.logo} alt={brand.name} />
      ) : (
        <>
          <BrandMark />
          <span className="brand-name" translate="no">
            {brand.name}
          </span>
        </>
      )}
    </span>
  );
}

function BrandMark() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--brand)" />
      <g fill="#fff">
        <circle cx="11.5" cy="13" r="4" />
        <path d="M4.5 25c0-4 3-6.5 7-6.5s7 2.5 7 6.5z" />
        <g opacity=".75">
          <circle cx="21" cy="14.5" r="3" />
          <path d="M20.4 25h7.1c0-3.6-2.6-6-6.5-6-.9 0-1.7.1-2.4.4 1.2 1.5 1.8 3.4 1.8 5.6z" />
        </g>
      </g>
    </svg>
  );
}
