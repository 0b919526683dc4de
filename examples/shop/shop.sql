-- The shop's data, the same each time: 50 carts of 25 lines, 500 products.
create table product (id integer primary key, name text not null, cents integer not null);
create table line (
    cart integer not null,
    place integer not null,
    product integer not null references product,
    number integer not null,
    primary key (cart, place)
);
insert into product select n, 'Product ' || n, 100 + n * 7 % 900 from generate_series(0, 499) as n;
insert into line
select cart, place, (cart * 31 + place * 17) % 500, 1 + place % 3
from generate_series(0, 49) as cart, generate_series(0, 24) as place;
